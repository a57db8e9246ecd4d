package dev.ashlar.bench.options;

import dev.ashlar.protocol.model.ByteSize;
import dev.ashlar.protocol.model.Profile;
import java.util.function.Function;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** How values on the command line are read. */
public abstract class Arguments {
  private Arguments() {}

  private static <T> T parsed(String text, Function<String, T> parser) {
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }

  /** Bytes: {@code 4096}, {@code 16KiB}, {@code 7.68TB}. */
  public static final class Size implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return parsed(text, ByteSize::parse);
    }
  }

  /** A profile, told as everywhere: {@code 6+2}, {@code 6+2,optimizations=off}. */
  public static final class ProfileText implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
      return parsed(text, given -> Profile.parse(given, 0).toString());
    }
  }

  /** The name of a storage class, as a profile or S3 may have it. */
  public static final class StorageClass implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
      if (text.matches("[A-Za-z0-9_-]+")) {
        return text;
      }
      throw new TypeConversionException(
          "'" + text + "' is no storage class: letters, digits, _ and -");
    }
  }

  /** How many of something without which there is nothing to measure: 1 or more. */
  public static final class Count implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      if (text.matches("0*[1-9]\\d{0,8}")) {
        return Integer.valueOf(text);
      }
      throw new TypeConversionException("'" + text + "' is no number from 1 on");
    }
  }

  /** A span in seconds, perhaps none. */
  public static class Seconds implements ITypeConverter<Double> {
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
  }

  /** A span in which something happens. */
  public static final class PositiveSeconds extends Seconds {
    @Override
    boolean isAllowed(double seconds) {
      return seconds > 0;
    }
  }
}
