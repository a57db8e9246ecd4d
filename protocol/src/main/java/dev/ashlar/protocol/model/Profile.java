package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.ProfileValue;

/**
 * How data is protected: k data shards and m parity shards over strips of one stripe unit.
 *
 * @param dataShards k, at least 1
 * @param parityShards m, at least 0; k + m is at most {@link #MAX_SHARDS}
 * @param stripeUnit bytes of one strip, a multiple of {@link #BLOCK_BYTES} up to 1 MiB
 * @param isClassic for comparison only: stripes are padded with zeros, and always read and written
 *     whole, as in stores without partial writes
 */
public record Profile(int dataShards, int parityShards, int stripeUnit, boolean isClassic) {
  /** Non-zero elements of GF(2^8): the most shards a Cauchy code over it can have. */
  public static final int MAX_SHARDS = 255;

  /** The unit of checksums and of drive I/O. */
  public static final int BLOCK_BYTES = 4096;

  public static final int DEFAULT_STRIPE_UNIT = 16 * 1024;
  private static final int CLASSIC_STRIPE_UNIT = 4 * 1024;
  private static final String SWITCH = ",optimizations=";
  private static final int MAX_STRIPE_UNIT = 1024 * 1024;

  public Profile {
    long shards = (long) dataShards + parityShards;
    if (dataShards < 1 || parityShards < 0 || shards > MAX_SHARDS) {
      throw new IllegalArgumentException(
          "profile "
              + dataShards
              + "+"
              + parityShards
              + ": needs k >= 1, m >= 0 and k+m <= "
              + MAX_SHARDS);
    }
    if (stripeUnit < BLOCK_BYTES || stripeUnit > MAX_STRIPE_UNIT || stripeUnit % BLOCK_BYTES != 0) {
      throw new IllegalArgumentException(
          "stripe unit " + stripeUnit + ": needs a multiple of 4096 from 4096 to 1048576");
    }
  }

  public Profile(int dataShards, int parityShards, int stripeUnit) {
    this(dataShards, parityShards, stripeUnit, false);
  }

  /**
   * Parses {@code "4+2"}, {@code "4+2,optimizations=on"} or {@code "4+2,optimizations=off"}.
   *
   * @param stripeUnit 0: the default
   */
  public static Profile parse(String text, int stripeUnit) {
    int plus = text.indexOf('+');
    int comma = text.indexOf(SWITCH);
    int end = comma < 0 ? text.length() : comma;
    boolean isClassic = comma >= 0 && text.endsWith(SWITCH + "off");
    try {
      if (plus < 0 || plus > end || (comma >= 0 && !isClassic && !text.endsWith(SWITCH + "on"))) {
        throw new NumberFormatException(text);
      }
      return new Profile(
          Integer.parseInt(text, 0, plus, 10),
          Integer.parseInt(text, plus + 1, end, 10),
          stripeUnit != 0 ? stripeUnit : isClassic ? CLASSIC_STRIPE_UNIT : DEFAULT_STRIPE_UNIT,
          isClassic);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "profile '" + text + "': expected k+m, like 4+2, or 4+2,optimizations=off", e);
    }
  }

  /** k + m. */
  public int shards() {
    return dataShards + parityShards;
  }

  /** Bytes of data in a full stripe. */
  public int stripeBytes() {
    return Math.multiplyExact(dataShards, stripeUnit);
  }

  /** How many slots must hold a write before it may be acknowledged: min(k+1, k+m). */
  public int durableMinimum() {
    return Math.min(dataShards + 1, shards());
  }

  public ProfileValue toMessage() {
    return ProfileValue.newBuilder()
        .setDataShards(dataShards)
        .setParityShards(parityShards)
        .setStripeUnit(stripeUnit)
        .setClassic(isClassic)
        .build();
  }

  public static Profile of(ProfileValue value) {
    return new Profile(
        value.getDataShards(), value.getParityShards(), value.getStripeUnit(), value.getClassic());
  }

  @Override
  public String toString() {
    return dataShards + "+" + parityShards + (isClassic ? SWITCH + "off" : "");
  }
}
