"""What a cases.py may import."""
