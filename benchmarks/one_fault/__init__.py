"""Files of real code with exactly one fault whose true text is known: how they are made, and how fixes of them are
counted.

python -m benchmarks.one_fault --help
"""
