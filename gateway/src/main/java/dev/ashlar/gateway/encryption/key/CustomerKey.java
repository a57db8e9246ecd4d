package dev.ashlar.gateway.encryption.key;

/**
 * A key that came with a request, for SSE-C. It is never stored.
 *
 * <p>{@link #md5} is what the answer repeats: the MD5 of the key in Base64.
 */
public final class CustomerKey {
  public static final int BYTES = SealingKey.BYTES;

  private final SealingKey key;
  private final String md5;

  /**
   * @param key {@link #BYTES}
   * @param md5 of the key, in Base64
   */
  public CustomerKey(byte[] key, String md5) {
    this.key = new SealingKey(key);
    this.md5 = md5;
  }

  public String md5() {
    return md5;
  }

  SealingKey key() {
    return key;
  }

  @Override
  public String toString() {
    return "CustomerKey";
  }
}
