"""What a guarantee in one notion of privacy says in another, and composition theorems."""
