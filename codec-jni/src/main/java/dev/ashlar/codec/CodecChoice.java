package dev.ashlar.codec;

/** Which implementation of the erasure code is used. */
public enum CodecChoice {
  /** ISA-L if its library loads, else Java with a warning. */
  AUTO,
  /** ISA-L or an error. */
  ISAL,
  JAVA
}
