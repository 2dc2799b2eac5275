"""Summing up: what a finished run tells in a few facts.

stages     at which stage of the pipeline each answer that fell short went wrong
summary    what was measured, which system is better, what fails most, what is missing
"""
