package dev.ashlar.bench.load;

/**
 * One request to make.
 *
 * @param offset where in the object, {@link #WHOLE} for all of it
 * @param bytes that the body of the request or of the answer has
 */
record Operation(Kind kind, String key, long offset, long bytes) {
  static final long WHOLE = -1;
}
