"""LLM judges: the questions to models, by what they are about, and the reading of their replies."""
