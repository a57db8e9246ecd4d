package dev.ashlar.bench;

import dev.ashlar.protocol.model.ByteSize;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Bytes on the command line: {@code 4096}, {@code 16KiB}, {@code 7.68TB}. */
public final class SizeArgument implements ITypeConverter<Long> {
  @Override
  public Long convert(String text) {
    try {
      return ByteSize.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
