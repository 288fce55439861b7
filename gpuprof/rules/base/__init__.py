"""What every rule is made of: the base class, findings, abstentions, guards, precedence."""
