"""Wang & Xu 2020: a private trust-region method; quoted by Ganesh, Liu, Oh & Thakurta 2023."""
