"""LLM judges: the questions to models, one file per task, and the reading of their replies."""
