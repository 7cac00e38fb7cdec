"""The engine: what llama.cpp computes, who may compute when, and the process around it."""
