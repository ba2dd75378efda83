"""copycost: what does each copy cost when Linux sends a message, and when does avoiding one pay?"""
