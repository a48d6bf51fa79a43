from .graph_files import check_graph_file as check_graph_file
from .quantization import to_int8 as to_int8
