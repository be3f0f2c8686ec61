"""Zhang, Zheng, Mou & Wang 2017: efficient private ERM for smooth objectives; quoted by Wang & Xu 2019."""
