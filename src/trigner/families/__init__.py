"""Every kind of system, one room each, over what they share: `core` and `onnx`."""
