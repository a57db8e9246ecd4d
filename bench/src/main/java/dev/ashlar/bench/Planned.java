package dev.ashlar.bench;

/** A command that knows before it begins how long it will take. */
public interface Planned {
  Plan plan();
}
