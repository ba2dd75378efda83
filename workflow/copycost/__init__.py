"""What each copy costs when Linux sends a message, and from which size on avoiding one pays."""
