"""Whether Spark can run here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def skip_without_java():
    """Skip a test where there is no Java."""
    java = shutil.which("java")
    if java is None or subprocess.run([java, "-version"], capture_output=True).returncode:
        pytest.skip("Java is not installed (Debian: default-jre-headless): Spark cannot run")


def use_this_python(patch):
    """Let Spark's workers be this Python, with what this one finds."""
    path = os.pathsep.join([str(TESTS.parent / "src"), os.environ.get("PYTHONPATH", "")])
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    patch.setenv("PYTHONPATH", path)
    patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
