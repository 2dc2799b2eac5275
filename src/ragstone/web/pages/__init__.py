"""The pages: one file each, with a function that takes the place and what is asked."""
