package dev.ashlar.codec.checksum;

/**
 * The CRC of two byte sequences one after the other, from their CRCs. Polynomials are reflected:
 * the top bit of a word is the coefficient of 1.
 */
public final class CrcCombine {
  public static final CrcCombine CRC32 = new CrcCombine(32, 0xedb88320L);
  public static final CrcCombine CRC32C = new CrcCombine(32, 0x82f63b78L);
  public static final CrcCombine CRC64NVME = new CrcCombine(64, 0x9a6c9329ac4bc9b5L);

  /** x^(8 · 2^n) modulo the polynomial, for each bit n of a length in bytes. */
  private final long[] bytePowers = new long[Long.SIZE];

  private final long one;
  private final long polynomial;

  private CrcCombine(int bits, long polynomial) {
    this.polynomial = polynomial;
    one = 1L << (bits - 1);
    long power = one >>> 1;
    for (int squarings = 0; squarings < 3; squarings++) {
      power = multiply(power, power);
    }
    for (int n = 0; n < bytePowers.length; n++) {
      bytePowers[n] = power;
      power = multiply(power, power);
    }
  }

  /**
   * @param first CRC of the first sequence
   * @param second CRC of the second
   * @param secondLength how many bytes the second has
   */
  public long combine(long first, long second, long secondLength) {
    if (secondLength < 0) {
      throw new IllegalArgumentException("negative length " + secondLength);
    }
    long shift = one;
    int n = 0;
    for (long rest = secondLength; rest != 0; rest >>>= 1) {
      if ((rest & 1) != 0) {
        shift = multiply(shift, bytePowers[n]);
      }
      n++;
    }
    return multiply(first, shift) ^ second;
  }

  private long multiply(long a, long b) {
    long product = 0;
    for (long bit = one; bit != 0; bit >>>= 1) {
      if ((a & bit) != 0) {
        product ^= b;
      }
      b = (b & 1) != 0 ? b >>> 1 ^ polynomial : b >>> 1;
    }
    return product;
  }
}
