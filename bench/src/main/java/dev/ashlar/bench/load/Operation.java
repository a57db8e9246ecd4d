package dev.ashlar.bench.load;

/**
 * One request to make.
 *
 * @param key of the object; of a listing the query, with sorted and encoded parameters
 * @param offset where in the object, {@link #WHOLE} for all of it
 * @param bytes that the body of the request or of the answer has
 */
public record Operation(Kind kind, String key, long offset, long bytes) {
  public static final long WHOLE = -1;

  /** A page of a listing of the bucket. */
  public static Operation list(String query) {
    return new Operation(Kind.LIST, query, WHOLE, 0);
  }
}
