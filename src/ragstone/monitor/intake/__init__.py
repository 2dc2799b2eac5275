"""Takes in what a system in production emits. A reply is sent after the commit, not before.

app           the HTTP app: /v1/traces, /v1/logs, /v1/metrics, /v1/examples, health and Prometheus
settings      what it allows
asking        what a request asks for, and whether it may
body          a body as it comes, within its limits and its time
unpacking     gzip and deflate, within limits
reading       a body becomes what is written of it
waiting       how much may wait to be written
group_commit  one transaction for all that waits
replies       what OTLP/HTTP demands as a reply
prometheus    figures for a scraper
connections   how many there may be, and how long a request may take to come
tail          follows a file of JSON lines
recorder      for apps without tracing
sending       over HTTP
storing       or straight into a store
"""
