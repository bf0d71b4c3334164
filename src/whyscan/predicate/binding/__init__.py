"""Binding turns syntax trees into typed predicates: names become columns, literals get types."""
