"""Audit: the same engine, on measurements that somebody else made."""
