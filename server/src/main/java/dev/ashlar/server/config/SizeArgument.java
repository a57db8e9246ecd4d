package dev.ashlar.server.config;

import dev.ashlar.protocol.model.ByteSize;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Bytes on the command line and in the environment: {@code 4096}, {@code 50MiB}, {@code 7.68TB}.
 */
public abstract class SizeArgument {
  private SizeArgument() {}

  private static long parse(String text) {
    try {
      return ByteSize.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }

  /** Of any size. */
  public static final class AsLong implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return parse(text);
    }
  }

  /** Below 2 GiB. */
  public static final class AsInt implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      long bytes = parse(text);
      if (bytes > Integer.MAX_VALUE) {
        throw new TypeConversionException("'" + text + "' is too much");
      }
      return (int) bytes;
    }
  }
}
