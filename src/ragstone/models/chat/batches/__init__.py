"""Batches: many questions to a server in one file, answered within a day at a lower price.

format        what a provider's format of batches says; openai, anthropic, gemini implement it
listing       a provider's list of batches, page by page
server        the HTTP calls, without any key in what they pass on
chat_batches  the batches of one chat model
"""
