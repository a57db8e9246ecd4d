package dev.ashlar.bench.options;

import dev.ashlar.bench.SizeArgument;
import dev.ashlar.protocol.model.Profile;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Bytes of one strip: a multiple of 4 KiB up to 1 MiB. */
public final class StripeUnitArgument implements ITypeConverter<Integer> {
  @Override
  public Integer convert(String text) {
    try {
      int unit = Math.toIntExact(new SizeArgument().convert(text));
      return new Profile(1, 0, unit).stripeUnit();
    } catch (ArithmeticException | IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
