package dev.ashlar.bench.options;

import dev.ashlar.protocol.model.ByteSize;
import dev.ashlar.protocol.model.Profile;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Bytes of one strip: a multiple of 4 KiB up to 1 MiB. */
public final class StripeUnitArgument implements ITypeConverter<Integer> {
  @Override
  public Integer convert(String text) {
    try {
      long bytes = ByteSize.parse(text);
      if (bytes > Integer.MAX_VALUE) {
        throw new TypeConversionException("'" + text + "' is too much");
      }
      return new Profile(1, 0, (int) bytes).stripeUnit();
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
