package dev.ashlar.bench.options;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A span in seconds on the command line, perhaps none. */
class SecondsArgument implements ITypeConverter<Double> {
  @Override
  public Double convert(String text) {
    double seconds;
    try {
      seconds = Double.parseDouble(text);
    } catch (NumberFormatException e) {
      seconds = Double.NaN;
    }
    if (!isAllowed(seconds) || Double.isInfinite(seconds)) {
      throw new TypeConversionException("'" + text + "' is no time in seconds to measure by");
    }
    return seconds;
  }

  boolean isAllowed(double seconds) {
    return seconds >= 0;
  }

  /** One in which something happens. */
  static final class Positive extends SecondsArgument {
    @Override
    boolean isAllowed(double seconds) {
      return seconds > 0;
    }
  }
}
