"""Judges by model: what an LLM is asked, one file a task, and what is read from its replies."""
