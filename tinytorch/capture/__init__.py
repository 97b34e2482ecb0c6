"""Recording of calls as graphs of ATen's operators: see recorder.py, twice.py, and schema.py for the operators."""
