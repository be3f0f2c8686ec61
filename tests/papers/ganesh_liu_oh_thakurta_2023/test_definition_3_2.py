"""Definition 3.2: parameters of the second kind along a path."""

TWINS = {"second-kind": lambda second_oracle_noise, travelled: travelled * second_oracle_noise * second_oracle_noise}
