"""From a Report to something a person looks at."""
