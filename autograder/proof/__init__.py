"""The proof of the exercises: catalogue of wrong answers, sealed checks, verify."""
