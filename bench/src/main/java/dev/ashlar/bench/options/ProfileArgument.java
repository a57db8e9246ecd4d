package dev.ashlar.bench.options;

import dev.ashlar.protocol.model.Profile;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A profile on the command line, told as everywhere: {@code 6+2}, {@code 6+2,optimizations=off}.
 */
public final class ProfileArgument implements ITypeConverter<String> {
  @Override
  public String convert(String text) {
    try {
      return Profile.parse(text, 0).toString();
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
