"""The laboratory: studies and prompting (extra `lab`). Only the command table loads it."""
