"""What every room uses: errors, messages, files, databases, escaping. It knows nothing of RAG."""
