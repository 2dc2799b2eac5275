"""Monitoring: a stream of judged answers, looked at after each one. Imported file by file.

detector         the e-detector: alarms when a mean falls below its bar
detection_delay  which scores come how often, and after how many of them a fall is noticed
windows          means of windows of time, with intervals for one look or for every look
"""
