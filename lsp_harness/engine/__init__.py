"""The engine process: it holds the model, evaluates prompts and answers over HTTP."""
