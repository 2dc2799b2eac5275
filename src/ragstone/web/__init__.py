"""The web room: the local app over the runs in a folder, and the report to send.

The app is made of pages. A page function takes the opened runs and the state in the URL, and
returns what its template shows; it computes no number itself. The report file shows the same parts.
"""
