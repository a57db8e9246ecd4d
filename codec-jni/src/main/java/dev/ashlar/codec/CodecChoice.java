package dev.ashlar.codec;

/** Which implementation serves. */
public enum CodecChoice {
  /** ISA-L where its library loads, else Java with a warning. */
  AUTO,
  /** ISA-L or an error. */
  ISAL,
  JAVA
}
