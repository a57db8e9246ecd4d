package dev.ashlar.bench.chart;

import java.awt.Dimension;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.batik.svggen.SVGGraphics2D;
import org.knowm.xchart.internal.chartpart.Chart;
import org.w3c.dom.Document;

/** Writes a figure four times: PNG and SVG, light and dark. */
final class ChartFiles {
  private static final int PIXELS_PER_POINT = 2;

  /** The same picture on both grounds, as SVG. */
  record Svg(String light, String dark) {}

  private ChartFiles() {}

  /** New files in the folder, named after the figure. */
  static Svg write(Path folder, Figure figure) throws IOException {
    return new Svg(write(folder, figure, Theme.LIGHT), write(folder, figure, Theme.DARK));
  }

  private static String write(Path folder, Figure figure, Theme theme) throws IOException {
    String name = figure.name() + "-" + theme.suffix();
    Path png = folder.resolve(name + ".png");
    // A chart is drawn once: painting leaves traces in it.
    try (var out = Files.newOutputStream(png, StandardOpenOption.CREATE_NEW)) {
      ImageIO.write(image(new Painter(theme).chart(figure)), "png", out);
    }
    String svg = svg(new Painter(theme).chart(figure));
    Files.writeString(folder.resolve(name + ".svg"), svg, StandardOpenOption.CREATE_NEW);
    return svg;
  }

  private static BufferedImage image(Chart<?, ?> chart) {
    int width = Painter.WIDTH * PIXELS_PER_POINT;
    int height = Painter.HEIGHT * PIXELS_PER_POINT;
    BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    graphics.scale(PIXELS_PER_POINT, PIXELS_PER_POINT);
    chart.paint(graphics, Painter.WIDTH, Painter.HEIGHT);
    graphics.dispose();
    return image;
  }

  private static String svg(Chart<?, ?> chart) throws IOException {
    SVGGraphics2D graphics = new SVGGraphics2D(document());
    graphics.setSVGCanvasSize(new Dimension(Painter.WIDTH, Painter.HEIGHT));
    chart.paint(graphics, Painter.WIDTH, Painter.HEIGHT);
    StringWriter text = new StringWriter();
    graphics.stream(text, true);
    return text.toString();
  }

  private static Document document() {
    try {
      return DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .getDOMImplementation()
          .createDocument("http://www.w3.org/2000/svg", "svg", null);
    } catch (ParserConfigurationException e) {
      throw new IllegalStateException(e);
    }
  }
}
