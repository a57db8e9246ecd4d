package dev.ashlar.server.config;

import dev.ashlar.protocol.model.ByteSize;
import dev.ashlar.transport.Endpoint;
import java.util.function.Function;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** How values of options are read from text, and refused. */
public abstract class OptionTypes {
  private OptionTypes() {}

  /**
   * @param message names the option; its {@code %s} stand for the values
   * @throws IllegalArgumentException with this message if it does not hold
   */
  @SuppressWarnings("AnnotateFormatMethod") // its artifact is no dependency of ours
  public static void require(boolean holds, String message, Object... values) {
    if (!holds) {
      throw new IllegalArgumentException(message.formatted(values));
    }
  }

  private static <T> T parsed(String text, Function<String, T> parser) {
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }

  /** A size in bytes: {@code 4096}, {@code 50MiB}, {@code 7.68TB}. */
  public static final class Bytes implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return parsed(text, ByteSize::parse);
    }
  }

  /** A size below 2 GiB. */
  public static final class SmallBytes implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      long bytes = parsed(text, ByteSize::parse);
      if (bytes > Integer.MAX_VALUE) {
        throw new TypeConversionException("'" + text + "' is too large");
      }
      return (int) bytes;
    }
  }

  /** {@code HOST:PORT}. */
  public static final class HostPort implements ITypeConverter<Endpoint> {
    @Override
    public Endpoint convert(String text) {
      return parsed(text, Endpoint::parse);
    }
  }

  /** {@code HOST:PORT}, with or without a scheme. */
  public static final class Address implements ITypeConverter<PortAddress> {
    @Override
    public PortAddress convert(String text) {
      return parsed(text, PortAddress::parse);
    }
  }
}
