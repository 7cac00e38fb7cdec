"""llama.cpp as a library: the declarations of what is called, and the library that this process has loaded."""
