package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.ProfileValue;

/**
 * How data is protected: k data shards and m parity shards over strips of one stripe unit.
 *
 * @param dataShards k, at least 1
 * @param parityShards m, at least 0; k + m is at most {@link #MAX_SHARDS}
 * @param stripeUnit bytes of one strip, a multiple of {@link #BLOCK_BYTES} up to 1 MiB
 */
public record Profile(int dataShards, int parityShards, int stripeUnit) {
  /** Non-zero elements of GF(2^8): the most shards a Cauchy code over it can have. */
  public static final int MAX_SHARDS = 255;

  /** The unit of checksums and of drive I/O. */
  public static final int BLOCK_BYTES = 4096;

  public static final int DEFAULT_STRIPE_UNIT = 16 * 1024;
  private static final int MAX_STRIPE_UNIT = 1024 * 1024;

  public Profile {
    if (dataShards < 1 || parityShards < 0 || dataShards + parityShards > MAX_SHARDS) {
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

  /** Parses {@code "4+2"}. */
  public static Profile parse(String text, int stripeUnit) {
    int plus = text.indexOf('+');
    try {
      if (plus < 0) {
        throw new NumberFormatException("no '+'");
      }
      return new Profile(
          Integer.parseInt(text, 0, plus, 10),
          Integer.parseInt(text, plus + 1, text.length(), 10),
          stripeUnit);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("profile '" + text + "': expected k+m, like 4+2", e);
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
        .build();
  }

  public static Profile of(ProfileValue value) {
    return new Profile(value.getDataShards(), value.getParityShards(), value.getStripeUnit());
  }

  @Override
  public String toString() {
    return dataShards + "+" + parityShards;
  }
}
