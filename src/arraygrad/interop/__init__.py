"""What other libraries' functions do with the arrays of arraygrad."""
