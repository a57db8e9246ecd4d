package dev.ashlar.bench.options;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** How many of something without which there is nothing to measure: 1 or more. */
public final class CountArgument implements ITypeConverter<Integer> {
  @Override
  public Integer convert(String text) {
    try {
      int count = Integer.parseInt(text);
      if (count >= 1) {
        return count;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new TypeConversionException("'" + text + "' is no number from 1 on");
  }
}
