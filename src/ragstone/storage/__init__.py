"""Storage: what lies at a URL, such as ``s3://bucket/answers.jsonl``, through fsspec.

``url`` tells URLs from paths, ``remote`` reads and writes what is there and says in words what
goes wrong, ``copies`` keeps a local copy of input for as long as it is read. Credentials come from
the environment and fsspec's configuration, never from the URL.
"""

from .copies import copy_of
from .remote import Remote
from .url import is_url, shown

__all__ = ["Remote", "copy_of", "is_url", "shown"]
