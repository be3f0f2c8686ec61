"""Wang, Ye & Xu 2017: private ERM, faster and more general; quoted by two of the papers."""
