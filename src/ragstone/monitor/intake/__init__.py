"""Takes in what a system in production emits. A reply is sent after the commit, not before.

intake_app     the HTTP app: /v1/traces, /v1/logs, /v1/metrics, /v1/examples, health and Prometheus
http_request   headers and bodies, within limits on size, time and waiting requests
otlp_http      the replies that OTLP/HTTP demands, and figures for a scraper
group_commit   one transaction for all that waits; the settings of the intake
file_tail      follows a file of JSON lines
send_tokens    what apps show, hashed in a file
recorder       for apps without tracing
record_sender  what it recorded goes over HTTP
store_sender   or straight into a store
"""
