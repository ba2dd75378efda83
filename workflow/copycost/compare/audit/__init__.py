"""Audit: the same analysis, on measurements that somebody else made."""
