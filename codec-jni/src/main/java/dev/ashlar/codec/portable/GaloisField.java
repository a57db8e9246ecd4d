package dev.ashlar.codec.portable;

/** GF(2^8) modulo x^8+x^4+x^3+x^2+1, the field ISA-L computes in; elements are ints 0..255. */
final class GaloisField {
  private static final int POLYNOMIAL = 0x11d;
  private static final int ORDER = 255;
  private static final int[] EXP = new int[2 * ORDER];
  private static final int[] LOG = new int[ORDER + 1];

  static {
    int power = 1;
    for (int i = 0; i < ORDER; i++) {
      EXP[i] = power;
      EXP[i + ORDER] = power;
      LOG[power] = i;
      power <<= 1;
      if (power > ORDER) {
        power ^= POLYNOMIAL;
      }
    }
  }

  private GaloisField() {}

  static int multiply(int a, int b) {
    return a == 0 || b == 0 ? 0 : EXP[LOG[a] + LOG[b]];
  }

  static int inverse(int a) {
    if (a == 0) {
      throw new ArithmeticException("0 has no inverse");
    }
    return EXP[ORDER - LOG[a]];
  }
}
